# Private to this collection: nothing outside it may import this file.

"""The host side of a model server: weights that it can read, and the client that downloads them from the hub."""
