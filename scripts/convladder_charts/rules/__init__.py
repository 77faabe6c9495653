"""What a schema cannot say of a record: checked by scripts/validate_record.py."""
