"""Images: CIFAR-10, histograms of gradients and colours, and arrays of pixels as they are."""
