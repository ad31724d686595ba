/** The settings of this version. */
export interface KnownSettings {
  /** True when a key as written names a setting. */
  isKnown(key: string): boolean
  /** True when a key as written names a numbered value of a list. */
  isListValue(key: string): boolean
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
export function translate(old: Iterable<readonly [key: string, value: string]>, known: KnownSettings): Outcome[] {
  const outcomes = [...old].map(([oldKey, value]) => translateOne(oldKey, value.trim(), known))
  return renumbered(withClosedWhitelist(withoutRivals(outcomes, known)), known)
}

const MODE = `${OWN}auth.password`

/** Without this, the empty whitelist would be dropped as a contradiction, and then all users could sign in with a password. */
function withClosedWhitelist(outcomes: readonly Outcome[]): Outcome[] {
  const settings = outcomes.flatMap(outcome => outcome.settings)
  if (settings.some(({ key }) => key.startsWith(`${MODE}.whitelist.`))) return [...outcomes]
  return outcomes.map(outcome =>
    outcome.settings.some(({ key, value }) => key === MODE && value.toLowerCase() === 'whitelist')
      ? {
          ...outcome,
          outcome: 'changed',
          why: 'No name of the whitelist is left, so no user can sign in with a password.',
          settings: [{ key: MODE, value: 'off' }],
        }
      : outcome,
  )
}

/** Numbers the values of each list from 1, so that a value that was dropped leaves no gap. */
export function renumbered(outcomes: readonly Outcome[], known: KnownSettings): Outcome[] {
  const keys = outcomes.flatMap(({ settings }) => settings.map(({ key }) => key)).filter(key => known.isListValue(key))
  const counts = new Map<string, number>()
  const renamed = new Map<string, string>()
  for (const key of keys.toSorted((a, b) => Number(numberIn(a)) - Number(numberIn(b)))) {
    const list = withoutNumber(key)
    const number = (counts.get(list) ?? 0) + 1
    counts.set(list, number)
    renamed.set(key, `${list}.${number}`)
  }
  return outcomes.map(outcome => ({
    ...outcome,
    settings: outcome.settings.map(({ key, value }) => ({ key: renamed.get(key) ?? key, value })),
  }))
}

/**
 * Of two old keys for one setting, the newer name stays, as in EntryStore; of a list, the key without a number stays,
 * before those with numbers.
 */
function withoutRivals(outcomes: readonly Outcome[], known: KnownSettings): Outcome[] {
  const targetsOf = ({ settings }: Outcome): string[] =>
    settings.map(({ key }) => (known.isListValue(key) ? withoutNumber(key) : key))
  const winners = new Map<string, Outcome>()
  for (const outcome of outcomes) {
    for (const target of targetsOf(outcome)) {
      const winner = winners.get(target)
      if (!winner || rankOf(outcome) < rankOf(winner)) winners.set(target, outcome)
    }
  }
  return outcomes.map(outcome => {
    const winner = targetsOf(outcome).flatMap(target => winners.get(target) ?? [])[0]
    if (!winner || rankOf(winner) === rankOf(outcome)) return outcome
    return { ...outcome, outcome: 'dropped', why: `${winner.oldKey} sets the same, and stays.`, settings: [] }
  })
}

/** The rows of {@link oldKeys} are in the order in which they win; a key that is not listed comes last. */
function rankOf({ oldKey }: Outcome): number {
  const name = oldKey.slice(PREFIX.length)
  const row = rowFor(withoutNumber(name))
  return 2 * (row === -1 ? oldKeys.length : row) + (numberIn(name) === undefined ? 0 : 1)
}

const numberIn = (key: string): string | undefined => /\.(\d+)$/.exec(key)?.[1]
const withoutNumber = (key: string): string => key.replace(/\.\d+$/, '')

function translateOne(oldKey: string, value: string, known: KnownSettings): Outcome {
  const dropped = (why: string): Outcome => ({ oldKey, outcome: 'dropped', why, settings: [] })
  if (value === '') return dropped('It has no value.')
  if (!oldKey.startsWith(PREFIX)) return dropped('It is no key of EntryStore, or one of its libraries.')
  const name = oldKey.slice(PREFIX.length)
  const number = numberIn(name)
  const bare = withoutNumber(name)
  const rule = ruleFor(bare)
  if (rule && 'dropped' in rule) return dropped(rule.dropped)
  const settings = settingsFor({ name, bare, number, value }, rule, known)
  if (!settings) return dropped('This service has no such setting.')
  const accepted: Translated[] = []
  const notes = rule?.why === undefined ? [] : [rule.why]
  for (const setting of settings) {
    const fitting = [setting, withoutByteSign(setting)].find(({ key, value }) => !known.problemWith(key, value))
    if (fitting) accepted.push(fitting)
    else notes.push(`${setting.key} does not accept its value: ${known.problemWith(setting.key, setting.value)}.`)
    if (fitting && fitting !== setting) notes.push(BYTE_SIGN)
  }
  if (accepted.length === 0) return dropped(notes.at(-1) ?? 'It has no value.')
  const why = notes.length === 0 ? undefined : notes.join(' ')
  const isSame = settings.length === 1 && settings[0]?.key === OWN + name
  return { oldKey, outcome: isSame && why === undefined ? 'translated' : 'changed', why, settings: accepted }
}

const BYTE_SIGN = 'The unit of a size is written without B; it stays a power of 1024.'

/** `500MB` as `500M`. */
const withoutByteSign = ({ key, value }: Translated): Translated => ({
  key,
  value: value.replace(/^(\d+)\s*([kmgt])b$/i, '$1$2'),
})

const rowFor = (name: string): number =>
  oldKeys.findIndex(([key]) => key === name || (key.endsWith('.') && `${name}.`.startsWith(key)))
const ruleFor = (name: string) => oldKeys[rowFor(name)]?.[1]

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
  if (rule && 'as' in rule) {
    const made = rule.as(name, value)
    return known.isKnown(OWN + made.key) ? [{ ...made, key: OWN + made.key }] : undefined
  }
  // In EntryStore, a list may have one value without a number.
  const asList = `${OWN}${bare}.${number ?? '1'}`
  if (known.isListValue(asList)) return [{ key: asList, value }]
  const target = OWN + (rule && 'to' in rule ? rule.to + (number === undefined ? '' : `.${number}`) : name)
  return known.isKnown(target) ? [{ key: target, value }] : undefined
}

/** The handling of a key that does more than change its prefix. */
type OldKey =
  | { readonly to: string; readonly why?: string }
  /** A list in this service, whose values may be on one line in EntryStore. */
  | { readonly toList: string; readonly why?: string }
  /** Another name, made from the whole one, and perhaps another value. */
  | { readonly as: (name: string, value: string) => Translated; readonly why?: string }
  | { readonly dropped: string }

const store = 'The store is the embedded one, or PostgreSQL at service.repository.store.url.'
const mailText = 'The text of mails is built in.'
const saml = 'One provider without a name still works; for several, name them in service.auth.saml.idps.<n>.'

/** `traversal.dct.max-depth` as `traversal.max-depth.dct`, `traversal.dct.1` as `traversal.predicates.dct.1`. */
function ofProfile(name: string, value: string): Translated {
  const [, profile = '', part = 'predicates', number = ''] =
    /^traversal\.([^.]+)(?:\.(max-depth|limit|repository-scope|blacklist))?(\.\d+)?$/.exec(name) ?? []
  if (part !== 'repository-scope')
    return { key: `traversal.${part === 'blacklist' ? 'stop' : part}.${profile}${number}`, value }
  return { key: `traversal.scope.${profile}`, value: /^(on|true)$/i.test(value) ? 'all' : 'context' }
}

/**
 * Keys of EntryStore, without `entrystore.`, whose meaning or name differs here. The first match applies: the key itself or, with a full stop
 * at its end, its beginning. Of two names of one setting, the newer is the first. A key that is not listed and is known to this service keeps
 * its name.
 */
const oldKeys: ReadonlyArray<readonly [key: string, what: OldKey]> = [
  [
    'data.folder',
    {
      dropped:
        'It means something else: the folder of the new store. Choose an empty folder; the import copies the files.',
    },
  ],
  ['repository.store.url', { dropped: `It means something else: there the address of an RDF4J server. ${store}` }],
  ['repository.store.init-with-test-data', { dropped: 'An imported store needs no test data.' }],
  ['repository.store.', { dropped: store }],
  ['repository.provenance', { to: 'repository.provenance', why: 'Revisions are kept in the one store.' }],
  ['repository.provenance.', { dropped: 'Revisions are kept in the one store.' }],
  ['repository.public.', { dropped: 'There is no public SPARQL copy.' }],
  [
    'repository.track-deleted-entries.',
    { dropped: 'There are no tombstones; ids of users, groups and contexts stay taken.' },
  ],
  [
    'repository.rewrite-basereference',
    { dropped: 'IRIs are stored relative to the base address: a new address needs no rewriting.' },
  ],
  ['repository.storejs.', { dropped: 'The pages of the service are built in.' }],
  ['solr.max-limit', { to: 'solr.max-limit' }],
  ['solr.', { dropped: 'The search engine is built in.' }],
  [
    'backup.',
    { dropped: 'Set service.backup.schedule and service.backup.target (docs/how-to/backup-and-upgrade.md).' },
  ],
  ['auth.http-basic.enabled', { to: 'auth.http-basic' }],
  ['auth.saml.enabled', { to: 'auth.saml', why: saml }],
  ['auth.saml', { to: 'auth.saml', why: saml }],
  ['auth.saml.redirect-domain-whitelist', { toList: 'auth.saml.redirect-domain-whitelist' }],
  ['auth.saml.idps', { toList: 'auth.saml.idps' }],
  ['auth.password.whitelist', { toList: 'auth.password.whitelist' }],
  ['auth.password.blacklist', { toList: 'auth.password.blacklist' }],
  [
    'auth.password.rule.custom',
    { toList: 'auth.password.rule.custom', why: 'Patterns are RE2: no look-around, no back references.' },
  ],
  [
    'auth.password.require-current-password',
    { to: 'auth.password.require-current-password', why: 'It is on by default here.' },
  ],
  [
    'auth.cookie.invalid-token-error',
    { to: 'auth.cookie.invalid-token-error', why: "By default an unknown token makes the request a guest's." },
  ],
  ['smtp.email.from', { to: 'smtp.from' }],
  ['auth.email.from', { to: 'smtp.from' }],
  ['smtp.email.', { dropped: 'Mails have a sender and one recipient.' }],
  ['auth.email.', { dropped: 'Mails have a sender and one recipient.' }],
  ['auth.password-reset.email.', { dropped: mailText }],
  ['auth.password-change.', { dropped: mailText }],
  ['auth.signup.', { dropped: 'People cannot register themselves: administrators or a sign-on create users.' }],
  ['auth.recaptcha.', { dropped: 'There is no CAPTCHA; the lockout limits guessing.' }],
  [
    'auth.permitted.redirects',
    {
      dropped:
        'Redirects after a sign-on stay on the own origin and the domains of service.auth.saml.redirect-domain-whitelist.<n>.',
    },
  ],
  [
    'cors.origins',
    { toList: 'cors.origins', why: 'Origins of this list may also write; `*` only reads what guests may read.' },
  ],
  ['cors.headers', { dropped: 'The headers that clients need are always allowed.' }],
  ['cors.origins.allow-credentials', { dropped: 'The origins listed may send cookies; `*` never.' }],
  [
    'proxy.whitelist.anonymous',
    { toList: 'proxy.guest-hosts', why: 'Host names, not addresses. Set service.proxy=on.' },
  ],
  ['proxy.whitelist.local', { toList: 'proxy.private-hosts', why: 'Host names, not addresses. Set service.proxy=on.' }],
  ['harvester.', { dropped: 'There is no harvesting.' }],
  ['rowstore.url', { to: 'rowstore.url', why: 'It must be the same as `baseurl` of the RowStore.' }],
  ['traversal.max-depth', { dropped: 'Each profile has its own: service.traversal.max-depth.<profile>.' }],
  ['traversal.', { as: ofProfile }],
  [
    'http.allow-content-disposition-inline',
    { dropped: 'Types that browsers may show are listed in service.data.inline-types.<n>.' },
  ],
  ['http.', { dropped: 'Headers and types of responses are fixed.' }],
  ['metrics', { dropped: 'Metrics are at /management/metrics, for administrators or with service.metrics.token.' }],
]
