"""Records and printed results beyond runs of layers, networks and rankings: each read, and as charts and tables."""
