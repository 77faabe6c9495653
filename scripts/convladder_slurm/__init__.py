"""A plan's shards as jobs of Slurm. Login nodes have old Pythons: 3.6 is enough for everything in here."""
