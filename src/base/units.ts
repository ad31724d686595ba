/** A span or a point of time in milliseconds; points count from the Unix epoch, UTC. */
export type Milliseconds = number

/** A span of time in whole seconds, the unit of cookies and of `Retry-After`. */
export type Seconds = number

/** A size in bytes. Everywhere a limit is meant, {@link UNLIMITED} lifts it. */
export type Bytes = number

/** The specification's word for "no limit" wherever a number of bytes, seconds or attempts is configured. */
export const UNLIMITED = -1
