"""Tables in databases: one SQL sample, and the dialects of DuckDB, PostgreSQL and Spark."""
