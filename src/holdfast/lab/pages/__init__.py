"""What the laboratory found, for people: tables, pictures and the report."""
