"""Knowledge bases: brought in, put under an index, and searched for what an image shows."""
