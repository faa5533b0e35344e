"""AdaNet over your own subnetworks: builders of torch modules, given estimators, images and streams."""
