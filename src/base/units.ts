/** A duration or a point in time in milliseconds; points in time count from the Unix epoch, UTC. */
export type Milliseconds = number

/** A duration in whole seconds, the unit of cookies and of `Retry-After`. */
export type Seconds = number

/** A size in bytes. As a limit, {@link UNLIMITED} means no limit. */
export type Bytes = number

/** The value that means "no limit" wherever a number of bytes, seconds or attempts is configured. */
export const UNLIMITED = -1
