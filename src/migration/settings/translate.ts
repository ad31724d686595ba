import { oldKeys } from './old-keys.ts'

/** The settings of this version. */
export interface KnownSettings {
  /** True when a key as written names a setting. */
  isKnown(key: string): boolean
  /** The reason why a value is invalid for a setting; `undefined` when it is valid. */
  problemWith(key: string, value: string): string | undefined
}

interface Translated {
  readonly key: string
  readonly value: string
}

/** The result for one key. */
export interface Outcome {
  readonly oldKey: string
  readonly outcome: 'translated' | 'changed' | 'dropped'
  /** The reason when the key was not simply translated. Never a value, which may be a secret. */
  readonly why: string | undefined
  readonly settings: readonly Translated[]
}

const PREFIX = 'entrystore.'
const OWN = 'service.'

/** Translates every key, in the order of the file. */
export const translate = (old: Iterable<readonly [key: string, value: string]>, known: KnownSettings): Outcome[] =>
  [...old].map(([oldKey, value]) => translateOne(oldKey, value.trim(), known))

function translateOne(oldKey: string, value: string, known: KnownSettings): Outcome {
  const dropped = (why: string): Outcome => ({ oldKey, outcome: 'dropped', why, settings: [] })
  if (value === '') return dropped('It has no value.')
  if (!oldKey.startsWith(PREFIX)) return dropped('It is no key of EntryStore, or one of its libraries.')
  const name = oldKey.slice(PREFIX.length)
  const number = /\.(\d+)$/.exec(name)?.[1]
  const bare = number === undefined ? name : name.slice(0, -number.length - 1)
  const rule = ruleFor(bare)
  if (rule && 'dropped' in rule) return dropped(rule.dropped)
  const settings = settingsFor({ name, bare, number, value }, rule, known)
  if (!settings) return dropped('This service has no such setting.')
  const accepted: Translated[] = []
  for (const setting of settings) {
    const fitting = [setting, withoutByteSign(setting)].find(({ key, value }) => !known.problemWith(key, value))
    if (!fitting) return dropped(`${setting.key} does not accept its value: ${known.problemWith(setting.key, value)}.`)
    accepted.push(fitting)
  }
  const why = rule?.why ?? (accepted.some((setting, at) => setting !== settings[at]) ? BYTE_SIGN : undefined)
  const isSame = settings.length === 1 && settings[0]?.key === OWN + name
  return { oldKey, outcome: isSame && why === undefined ? 'translated' : 'changed', why, settings: accepted }
}

const BYTE_SIGN = 'The unit of a size is written without B; it stays a power of 1024.'

/** `500MB` as `500M`. */
const withoutByteSign = ({ key, value }: Translated): Translated => ({
  key,
  value: value.replace(/^(\d+)\s*([kmgt])b$/i, '$1$2'),
})

const ruleFor = (name: string) =>
  oldKeys.find(([key]) => key === name || (key.endsWith('.') && name.startsWith(key)))?.[1]

interface OldSetting {
  readonly name: string
  readonly bare: string
  readonly number: string | undefined
  readonly value: string
}

function settingsFor(
  old: OldSetting,
  rule: ReturnType<typeof ruleFor>,
  known: KnownSettings,
): Translated[] | undefined {
  const { name, bare, number, value } = old
  if (rule && 'toList' in rule) {
    const values = number === undefined ? value.split(/[,;\s]+/).filter(part => part !== '') : [value]
    return values.map((part, index) => ({ key: `${OWN}${rule.toList}.${number ?? index + 1}`, value: part }))
  }
  const target = OWN + (rule && 'to' in rule ? rule.to + (number === undefined ? '' : `.${number}`) : name)
  if (known.isKnown(target)) return [{ key: target, value }]
  // In EntryStore, a list may have one value without a number.
  const asList = `${OWN}${bare}.${number ?? '1'}`
  return known.isKnown(asList) ? [{ key: asList, value }] : undefined
}
