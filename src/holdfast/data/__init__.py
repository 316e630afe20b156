"""Samples: tables that count rows and sum row values, exactly and the same on every engine."""

from holdfast.data.fingerprint import fingerprint
from holdfast.data.sample import Moments, Sample
from holdfast.data.source import FileStamp, open_sample
from holdfast.data.split import split
from holdfast.data.values import cluster_sizes

__all__ = [
    "FileStamp",
    "Moments",
    "Sample",
    "cluster_sizes",
    "fingerprint",
    "open_sample",
    "split",
]
