/**
 * A file that no buffers of a connection hold (the kernel's grow to tens of megabytes), in bytes: its download is in progress for as
 * long as the client reads nothing.
 */
export const MORE_THAN_BUFFERS = 100_000_000
