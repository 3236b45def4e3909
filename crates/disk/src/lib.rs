//! Models of disks.
