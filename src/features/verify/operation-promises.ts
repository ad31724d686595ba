import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Client, tell } from './client.ts'
import { broken, CannotCheck, holds, kept, type Outcome, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { roundTrip } from './round-trip.ts'
import { requireOk, settingsOf, type Site } from './site.ts'

const HEALTH = 'reference/metrics-and-logs.md'
const BACKUP = 'how-to/backup-and-upgrade.md'
const NODES = 'how-to/several-nodes.md'
const HOUR: Milliseconds = 3_600_000
/** In hours: two nights, and the time that a backup takes. */
const OLD_BACKUP = 50

const databaseCodes = [
  'database-server',
  'database-not-verified',
  'store-current',
  'store-older',
  'store-newer',
  'store-damaged',
  'store-incomplete',
  'store-unusable',
]
const backupCodes = [
  'backup-made',
  'backup-failed',
  'backup-overdue',
  'backup-gone',
  'backup-back',
  'backup-changed',
  'backup-unreadable',
  'backup-not-remembered',
  'backup-of-damaged-store',
  'backup-without-store',
  'backup-proof-failed',
  'backup-proof-overdue',
  'backups-damaged',
  'backups-none',
  'backups-none-of-store',
  'backups-of-future',
  'backups-of-lost-store',
  'backups-of-others',
  'backups-unchecked',
  'backups-unproven',
  'backups-unusable',
]
const certificateCodes = ['signing-certificate', 'encryption-certificate', 'saml-certificate'].flatMap(code => [
  code,
  `${code}-expired`,
])

/** A promise that findings of `doctor` with these codes decide. Without such a finding it cannot be checked. */
const byDoctor = (
  id: string,
  sentence: string,
  page: string,
  codes: readonly string[],
  otherwise: string,
): Promised => ({
  id,
  sentence,
  page,
  codes,
  async check(site): Promise<Outcome> {
    const found = (await site.findings()).filter(({ code }) => codes.includes(code))
    const bad = found.find(({ level }) => level === 'problem') ?? found.find(({ level }) => level === 'warning')
    if (bad) return broken(bad.text, 'Do what `stowage doctor` says.')
    return found[0] ? kept(found[0].text) : unchecked(otherwise)
  },
})

function nodesOf(site: Site): readonly Client[] {
  if (site.nodes.length < 2) throw new CannotCheck('name the nodes with --node ADDRESS, at least two')
  return site.nodes.map(node => site.admin.at(node))
}

/** Settings in which nodes may differ. */
const ownOfNode = /^service\.(?:http\.|log\.|data\.folder|backup\.|cluster\.node|metrics\.)/

interface Certificate {
  readonly notAfter?: string
  readonly expires?: string
}

interface Provider {
  readonly idp?: string
  readonly name?: string
  readonly error?: string
  readonly metadata?: { readonly error?: string; readonly certificates?: readonly Certificate[] }
}

export const operationPromises: readonly Promised[] = [
  {
    id: 'metrics-not-public',
    sentence: 'Metrics are for the token of the monitoring and for administrators only.',
    page: `${HEALTH}#metrics`,
    check: async site => {
      const answer = await site.guest().ask('management/metrics')
      return holds(answer.status !== 200, tell(answer), 'Let the proxy add no credentials.')
    },
  },
  {
    id: 'metrics',
    sentence: 'Administrators read the metrics that the alarms need.',
    page: `${HEALTH}#alarms-and-dashboard`,
    check: async site => {
      const answer = await site.admin.ask('management/metrics')
      const missing = ['stowage_http_requests_total', 'stowage_disk_state', 'stowage_audit_events_total'].filter(
        name => !answer.text.includes(name),
      )
      if (answer.status === 404) return unchecked('metrics are not served')
      return holds(
        missing.length === 0,
        missing.length === 0 ? 'all are there' : `missing: ${missing.join(', ')}`,
        'Read docs/reference/metrics-and-logs.md.',
      )
    },
  },
  {
    id: 'search-complete',
    sentence: 'The next search finds every completed write.',
    page: 'concepts.md#search',
    check: async site => {
      const context = await site.context()
      const word = site.workshop.newName('word').replaceAll('-', '')
      const subject = site.admin.address(`${context}/resource/_newId`)
      await site.workshop.entry(site.admin, context, {
        metadata: { [subject]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: word }] } },
      })
      const answer = requireOk(await site.admin.ask(`search?type=solr&query=title:${word}`), 'the search')
      const { results } = answer.json<{ readonly results: number }>()
      const isComplete = answer.headers['search-index'] !== 'incomplete'
      return holds(
        results === 1 && isComplete,
        isComplete ? `${results} found` : 'the index is still being filled',
        'Wait until the index is complete, or read the log of the service.',
      )
    },
  },
  {
    id: 'version',
    sentence: 'The service tells administrators its version.',
    page: 'how-to/install.md',
    check: async site => {
      const { version } = await site.status()
      return holds(typeof version === 'string', version, 'Read the log of the service.')
    },
  },
  {
    id: 'same-version',
    sentence: 'All nodes run the same version.',
    page: NODES,
    check: async site => {
      const versions = await Promise.all(
        nodesOf(site).map(
          async node =>
            requireOk(await node.ask('management/status?extended'), 'the status of a node').json<{
              readonly version: string
            }>().version,
        ),
      )
      return holds(new Set(versions).size === 1, versions.join(', '), 'Upgrade all nodes to the same version.')
    },
  },
  {
    id: 'same-settings',
    sentence: 'All nodes have the same settings.',
    page: NODES,
    check: async site => {
      const [first = new Map<string, string>(), ...others] = await Promise.all(nodesOf(site).map(settingsOf))
      const differing = [...first].flatMap(([key, value]) =>
        !ownOfNode.test(key) && others.some(other => other.get(key) !== value) ? [key] : [],
      )
      return holds(
        differing.length === 0,
        differing.length === 0 ? `${others.length + 1} nodes` : `different: ${differing.join(', ')}`,
        'Give all nodes the same settings.',
      )
    },
  },
  {
    id: 'same-clock',
    sentence: 'The clocks of all nodes agree within 30 seconds.',
    page: NODES,
    check: async site => {
      const times = await Promise.all(
        nodesOf(site).map(async node => Date.parse((await node.ask('management/health')).headers.date ?? '')),
      )
      const apart = (Math.max(...times) - Math.min(...times)) / 1000
      return holds(apart <= 30, `${apart} s apart`, 'Synchronise the clocks of the nodes, for instance with chrony.')
    },
  },
  {
    id: 'same-data',
    sentence: 'What one node has stored, every other node reads at once.',
    page: NODES,
    check: async site => {
      const [first, ...others] = nodesOf(site)
      if (!first) return unchecked('there is no node')
      const path = await site.workshop.file(first, await site.context(), Buffer.from('text of one node'))
      const answers = await Promise.all(others.map(node => node.ask(path)))
      return holds(
        answers.every(({ text }) => text === 'text of one node'),
        answers.map(tell).join(', '),
        'Connect all nodes to the same database and the same bucket or folder.',
      )
    },
  },
  {
    id: 'backup-recent',
    sentence: 'The last scheduled backup succeeded, and is at most two days old.',
    page: `${BACKUP}#back-up-every-night`,
    check: async site => {
      const { backup, startupTime } = await site.status()
      if (!backup) return broken('no backup is scheduled', 'Set service.backup.schedule and service.backup.target.')
      if (backup.problem !== undefined) return broken(backup.problem, 'Read the log of the service.')
      const hoursSince = (time: string): number => (realSystem.now() - Date.parse(time)) / HOUR
      if (backup.made) {
        const hours = Math.round(hoursSince(backup.made.time))
        return holds(hours < OLD_BACKUP, `${hours} hours old`, 'Read the log of the service.')
      }
      if (hoursSince(startupTime) < 1)
        return unchecked('the service has just started, and its first backup is not complete')
      return broken('no backup was made yet', 'Read the log of the service.')
    },
  },
  byDoctor(
    'backups',
    'The place of the backups can be used, and the backups in it are complete and proven.',
    BACKUP,
    backupCodes,
    'no backups are scheduled, or none has been made yet',
  ),
  byDoctor(
    'disk',
    'The disk has enough space.',
    'how-to/troubleshooting.md',
    ['disk-free', 'disk-low', 'disk-full'],
    'doctor says nothing about the disk',
  ),
  byDoctor(
    'database',
    'The database is sound and fits the version.',
    'how-to/postgres-redis-s3.md',
    databaseCodes,
    'doctor says nothing about the database',
  ),
  byDoctor(
    'data-folder',
    'The data folder is on a local disk, or is shared as nodes need it.',
    'how-to/install.md',
    [
      'data-folder',
      'data-folder-new',
      'data-folder-read-only',
      'data-folder-unusable',
      'data-folder-exposed',
      'files-missing',
    ],
    'doctor says nothing about the data folder',
  ),
  byDoctor(
    'open-files',
    'The service may open enough files.',
    'reference/limits.md',
    ['open-files', 'open-files-few'],
    'doctor says nothing about open files',
  ),
  byDoctor(
    'keys',
    'The keys of the service exist and can be used.',
    'cryptography.md',
    [
      'token-key',
      'token-key-new',
      'token-key-unusable',
      'app-key-missing',
      'app-keys-unusable',
      'app-key-file-missing',
    ],
    'no keys are set',
  ),
  byDoctor(
    'redis',
    'Redis keeps what it is given.',
    'how-to/postgres-redis-s3.md#redis',
    ['redis', 'redis-unusable'],
    'no Redis is set',
  ),
  {
    id: 'doctor',
    sentence: '`stowage doctor` finds no problems.',
    page: 'reference/cli.md',
    check: async site => {
      const problems = (await site.findings()).filter(({ level }) => level === 'problem')
      return holds(problems.length === 0, problems[0]?.text ?? 'no problems', 'Do what `stowage doctor` says.')
    },
  },
  {
    id: 'sso-metadata',
    sentence: 'An identity provider can read the metadata of this service, with addresses that browsers reach.',
    page: 'how-to/sso-saml.md',
    check: async site => {
      const answer = await site.guest().ask('auth/saml/metadata', { headers: { accept: '*/*' } })
      if (answer.status === 404) return unchecked('SAML is switched off')
      const [, location = ''] = /AssertionConsumerService[^>]*Location="([^"]+)"/.exec(answer.text) ?? []
      return holds(
        answer.status === 200 && location.startsWith(site.base.origin),
        location || tell(answer),
        'Set service.auth.saml.assertion-consumer-service.url to an address below the base address.',
      )
    },
  },
  {
    id: 'sso-providers',
    sentence: 'The metadata of every identity provider can be read.',
    page: 'how-to/sso-saml.md',
    check: async site => {
      const { saml = [], oidc = [] } = requireOk(
        await site.admin.ask('management/sso'),
        'the state of single sign-on',
      ).json<{
        readonly saml?: readonly Provider[]
        readonly oidc?: readonly Provider[]
      }>()
      const providers = [...saml, ...oidc]
      if (providers.length === 0) return unchecked('no identity provider is set')
      const bad = providers.filter(provider => JSON.stringify(provider).includes('"error"'))
      return holds(
        bad.length === 0,
        bad.length === 0 ? `${providers.length} providers` : bad.map(({ idp, name }) => idp ?? name ?? '?').join(', '),
        'Look at Administration, Single sign-on.',
      )
    },
  },
  {
    id: 'sso-redirect',
    sentence: 'A sign-on leads to the provider, and back to an address that browsers reach.',
    page: 'how-to/sso-oidc.md',
    check: async site => {
      const answer = await site.guest().ask('auth/oidc', { headers: { accept: 'text/html' } })
      if (answer.status === 404) return unchecked('OpenID Connect is switched off')
      const location = answer.headers.location ?? ''
      const back = location === '' ? '' : (new URL(location, site.base).searchParams.get('redirect_uri') ?? '')
      return holds(
        back.startsWith(site.base.href),
        back || tell(answer),
        'Set service.baseurl.folder, and register the address at the provider.',
      )
    },
  },
  roundTrip,
  byDoctor(
    'sso-certificates',
    'No certificate of single sign-on ends soon.',
    'how-to/sso-saml.md',
    certificateCodes,
    'no certificates are set',
  ),
  {
    id: 'mail',
    sentence: 'Mails leave the service.',
    page: 'passwords-and-lockout.md#reset-by-e-mail',
    check: async site => {
      if (site.mail === undefined) return unchecked('name an address with --mail ADDRESS')
      const answer = await site.guest().ask('auth/pwreset', { json: { username: site.mail } })
      if (answer.status === 404) return unchecked('no mail server is set')
      return unchecked(`a mail to ${site.mail} was asked for (${tell(answer)}), if it is a user: look into the mailbox`)
    },
  },
]
