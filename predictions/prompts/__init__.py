"""What models are asked, and how their replies are read: pure, versioned functions over what a person is shown."""
