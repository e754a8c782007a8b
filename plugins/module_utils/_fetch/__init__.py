"""Downloads: files, repositories and archives, and how they are unpacked."""
