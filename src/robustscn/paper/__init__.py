"""The experiments of the RSC-KDE paper (Wang & Li 2017), run again and set beside its figures."""
