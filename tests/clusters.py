"""Dask clusters of worker processes on this machine."""


def cluster(n_workers=2):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
