"""What `./emic` is made of: the standard library only, because it runs before anything is installed."""
