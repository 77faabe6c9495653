class Source: pass
