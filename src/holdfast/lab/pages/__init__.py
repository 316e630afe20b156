"""Pages of the laboratory: tables, pictures and the report."""
