"""The methods that train: AdaNet (and .R .P .D .SD), AdaNet.CVX and the baselines."""
