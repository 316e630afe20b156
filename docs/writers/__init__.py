"""What `make docs` writes: each module makes pages of one kind from the software itself."""
