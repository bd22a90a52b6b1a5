"""The coverage panel of datas3t collections: which keys the ranges of each dataset cover."""
