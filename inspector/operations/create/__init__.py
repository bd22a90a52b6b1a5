"""New archives, archives that grow, and catalogues of them."""
