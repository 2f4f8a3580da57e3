"""A stage as a form: its JSON drawn as controls (`controls`), read back (`reading`), changed in shape (`acts`)."""
