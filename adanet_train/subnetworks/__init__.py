"""AdaNet over subnetworks of one's own: builders of torch modules, given estimators, images and streams."""
