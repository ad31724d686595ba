import type { CoreKeys } from './core-keys.ts'
import type { Setting } from './setting.ts'

type Element<Row> = Row extends Setting<infer T> ? T : never
type Value<Row> = Row extends Setting<infer T, infer Default> ? T | Default : never
type Several<Key, Row> = Key extends `${string}.<n>`
  ? ReadonlyArray<Element<Row>>
  : Key extends `${string}.<${string}>`
    ? ReadonlyMap<string, Element<Row>>
    : Value<Row>
type Shape<Key, Row> = Key extends `${string}.<idp>.${string}`
  ? ReadonlyMap<string, Several<Key, Row>>
  : Several<Key, Row>

/** The values that go with a table of settings. */
export type SettingsOf<Table> = { readonly [Key in keyof Table]: Shape<Key, Table[Key]> }

/**
 * The settings of the core by the key of their row: `settings['service.http.port']` is a number.
 * - Settings without value and default are `undefined`.
 * - Numbered lists (`….<n>`) are arrays, empty when nothing is configured.
 * - Settings whose last part is a name (`….required.<claim>`) are maps from that name, empty when nothing is configured.
 * - Settings of an identity provider (`….<idp>.…`) are maps from its name. Each has all names that occur in the
 *   configuration, so a default is found there too.
 */
export type Settings = SettingsOf<CoreKeys>
