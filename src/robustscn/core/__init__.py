"""The algorithm: arrays in, arrays out. No scikit-learn, no Dask, no files, no printing."""
