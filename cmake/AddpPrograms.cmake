# What people run: the program and the libraries it loads. Filled in below as the folders exist.
