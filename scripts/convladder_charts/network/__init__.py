"""Charts and tables of a run of whole networks, drawn from network.json."""
