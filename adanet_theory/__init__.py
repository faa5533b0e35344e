"""The bounds of AdaNet (ICML 2017), as printed and as corrected: one small function per statement."""
