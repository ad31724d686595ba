/** The result of parsing a configured text: a value, or the reason for the error ("expected …"). */
export type Parsed<T> = { readonly value: T } | { readonly problem: string }

/** A kind of value. `expects` describes its rules, for messages and for docs/configuration.md. */
export interface Kind<T> {
  /** Completes "expected …". */
  readonly expects: string
  /** The value is never shown: not in messages, not by `config show`. */
  readonly secret: boolean
  parse(text: string): Parsed<T>
  /** The value as it may be written, so that parsing it gives the same value. Not for secrets. */
  show(value: T): string
}

interface Warning {
  readonly code: string
  readonly text: string
}

/** One row of the table: what one key means. `Default` is `undefined` for a setting that may be left out. */
export interface Setting<T = unknown, Default = unknown> {
  readonly kind: Kind<T>
  readonly default: Default
  /** Says what the default is when it follows from something else. */
  readonly defaultText: string | undefined
  readonly help: string
  /** For dangerous switches, a warning at start when the value is not the default; its text completes "<key> …". */
  readonly warn: Warning | undefined
  /** A node with another value would spoil shared data, or the protection of accounts, for all: nodes are compared. */
  readonly sameOnAllNodes: boolean
  /** Takes effect when the settings are read again while the service runs; of an address only user name and password. */
  readonly live: boolean | 'credentials'
}

export interface SettingOptions<Default> {
  readonly help: string
  readonly default?: Default
  readonly defaultText?: string
  readonly warn?: Warning
  readonly sameOnAllNodes?: true
  readonly live?: true | 'credentials'
}

export function setting<T, Default extends T | undefined>(
  kind: Kind<T>,
  options: SettingOptions<Default>,
): Setting<T, Default> {
  return {
    kind,
    // Where the option is left out, `Default` has been inferred as `undefined`.
    default: options.default as Default,
    defaultText: options.defaultText,
    help: options.help,
    warn: options.warn,
    sameOnAllNodes: options.sameOnAllNodes ?? false,
    live: options.live ?? false,
  }
}

/** All settings of the table can change while the service runs, except these. */
export const allLiveBut = <Table extends object>(others: ReadonlyArray<NoInfer<keyof Table>>, table: Table): Table =>
  Object.fromEntries(
    Object.entries(table).map(([key, row]) => [
      key,
      (others as readonly string[]).includes(key) ? row : { ...(row as Setting), live: true },
    ]),
  ) as Table

/** What declares the settings of one kind. */
export const settingsOf =
  <T>(kind: Kind<T>) =>
  <D extends T | undefined = undefined>(options: SettingOptions<D>): Setting<T, D> =>
    setting(kind, options)

/**
 * A kind that trims its text, refuses an empty text and describes every failure by `expects`. `read` gets the trimmed text and returns
 * `undefined` for a text that it does not accept.
 */
export function trimmed<T>(
  expects: string,
  read: (text: string) => T | undefined,
  show: (value: T) => string = String,
): Kind<T> {
  return {
    expects,
    secret: false,
    parse: text => {
      if (text.trim() === '') return { problem: emptyProblem }
      const value = read(text.trim())
      return value === undefined ? { problem: `expected ${expects}` } : { value }
    },
    show,
  }
}

export const emptyProblem = 'a value is missing; leave the key out to get its default'
