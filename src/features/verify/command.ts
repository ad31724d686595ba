import { readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Command, parseArguments, print, printError, UsageError } from '../../core/command.ts'
import { readPassword } from '../../core/password-input.ts'
import { Client, tell } from './client.ts'
import { CannotCheck } from './outcome.ts'
import type { Promised } from './promise.ts'
import { promises } from './promises.ts'
import { jsonOf, junitOf, linesOf } from './report.ts'
import type { ProviderUser } from './browser.ts'
import { Site } from './site.ts'
import { type Verified, verify } from './verify.ts'
import { removeTraces } from './workshop.ts'

const options = {
  user: { type: 'string' },
  'token-file': { type: 'string' },
  node: { type: 'string', multiple: true },
  only: { type: 'string', multiple: true },
  mail: { type: 'string' },
  'sign-on': { type: 'string' },
  'provider-user': { type: 'string' },
  'provider-password-file': { type: 'string' },
  from: { type: 'string' },
  'connect-to': { type: 'string' },
  json: { type: 'boolean' },
  junit: { type: 'string' },
  list: { type: 'boolean' },
  clean: { type: 'boolean' },
} as const

const USAGE = [
  'URL (--user NAME | --token-file FILE) [--only ID]… [--node URL]… [--mail ADDRESS] [--sign-on PATH --provider-user NAME --provider-password-file FILE] [--from ADDRESS] [--connect-to ADDRESS] [--json] [--junit FILE]',
  'verify URL (--user NAME | --token-file FILE) --clean',
  'verify --list [--json]',
].join('\n       ')

/** Where the pages are that the promises name. */
const DOCUMENTS = 'docs/'

const KEPT = 0
const BROKEN = 1
const COULD_NOT = 2
const INTERRUPTED = 130

export const verifyCommand: Command = {
  name: 'verify',
  usage: USAGE,
  summary: 'Checks the promises of a running service from any machine, through its proxy, and removes every trace.',
  async run(args) {
    const { positionals, values } = parseArguments(args, options)
    const wanted = chosen(values.only)
    if (values.list) return list(wanted, values.json)
    const [url, ...more] = positionals
    if (url === undefined) throw new UsageError('The address of the service is missing.')
    if (more.length > 0) throw new UsageError(`Name one address, not ${positionals.join(' and ')}.`)
    for (const key of ['from', 'connect-to'] as const) {
      const address = values[key]
      if (address !== undefined && isIP(address) === 0)
        throw new UsageError(`--${key} must be an IP address, but is "${address}".`)
    }
    const providerUser = readProviderUser(values)
    const client = new Client(readBase(url), { from: values.from, connectTo: values['connect-to'] })
    try {
      await identify(client, values.user, values['token-file'])
      if (values.clean) return await clean(client)
      const nodes = (values.node ?? []).map(readBase)
      const site = new Site(client, { nodes, mail: values.mail, providerUser })
      return await check(site, wanted, values)
    } catch (error) {
      if (error instanceof UsageError) throw error
      printError(
        `stowage verify: ${error instanceof CannotCheck ? error.message : `${url} does not answer: ${(error as Error).message}`}`,
      )
      return COULD_NOT
    } finally {
      client.close()
    }
  },
}

function chosen(only: readonly string[] | undefined): readonly Promised[] {
  const ids = only?.flatMap(list => list.split(','))
  const unknown = ids?.find(id => promises.every(one => one.id !== id))
  if (unknown !== undefined) throw new UsageError(`There is no promise "${unknown}"; --list prints them all.`)
  return promises.filter(({ id }) => ids?.includes(id) ?? true)
}

function list(wanted: readonly Promised[], isJson = false): number {
  if (isJson) print(JSON.stringify(wanted.map(({ id, sentence, page }) => ({ id, sentence, page }))))
  else for (const { id, sentence, page } of wanted) print(`${id}: ${sentence} (${DOCUMENTS}${page})`)
  return KEPT
}

/** A base address, with a slash at its end. @throws {UsageError} */
function readBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '') {
    if (!url.pathname.endsWith('/')) url.pathname += '/'
    return url
  }
  throw new UsageError(`The address must begin with http:// or https:// and have no query, but is "${text}".`)
}

/** Signs in, or uses the token. @throws {UsageError} @throws {CannotCheck} */
async function identify(client: Client, user: string | undefined, tokenFile: string | undefined): Promise<void> {
  if ((user === undefined) === (tokenFile === undefined)) throw new UsageError('Give either --user or --token-file.')
  if (tokenFile !== undefined) {
    client.token = readSecret('token', tokenFile)
    const answer = await client.ask('management/settings')
    if (answer.status !== 200) throw new CannotCheck(`the token does not administer the service: ${tell(answer)}`)
    return
  }
  const answer = await client.signIn(user ?? '', await readPassword(`Password of ${user} at ${client.base.href}: `))
  if (answer.status !== 200) throw new CannotCheck(`${user} cannot sign in: ${tell(answer)}`)
}

function readSecret(what: 'token' | 'password', file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new UsageError(`The ${what} file ${file} cannot be read: ${(cause as Error).message}.`)
  }
}

/** @throws {UsageError} unless all three are given, or none */
function readProviderUser(values: {
  readonly 'sign-on'?: string | undefined
  readonly 'provider-user'?: string | undefined
  readonly 'provider-password-file'?: string | undefined
}): ProviderUser | undefined {
  const { 'sign-on': start, 'provider-user': name, 'provider-password-file': file } = values
  if (start === undefined && name === undefined && file === undefined) return undefined
  if (start === undefined || name === undefined || file === undefined)
    throw new UsageError('--sign-on, --provider-user and --provider-password-file belong together.')
  if (!/^auth\/(?:oidc|saml|cas)(?:\?|$)/.test(start))
    throw new UsageError(
      `--sign-on must be auth/oidc, auth/saml or auth/cas, with a query or without, but is "${start}".`,
    )
  return { start, name, password: readSecret('password', file) }
}

async function clean(client: Client): Promise<number> {
  const removed = await removeTraces(client)
  print(removed.length === 0 ? 'Nothing of an earlier run is left.' : `Removed: ${removed.join(', ')}.`)
  return KEPT
}

interface Output {
  readonly json?: boolean | undefined
  readonly junit?: string | undefined
}

async function check(site: Site, wanted: readonly Promised[], { json = false, junit }: Output): Promise<number> {
  const interrupted = new AbortController()
  const interrupt = (): void => {
    printError('stowage verify: stopping, and removing every trace')
    interrupted.abort()
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const all: Verified[] = []
  const left = await verify(site, wanted, {
    signal: interrupted.signal,
    onEach: verified => {
      all.push(verified)
      if (!json) for (const line of linesOf(verified, DOCUMENTS)) print(line)
    },
  })
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  if (json) print(JSON.stringify({ base: site.base.href, promises: all.map(jsonOf), left }))
  if (junit !== undefined) writeFileSync(junit, junitOf(all))
  for (const one of left) printError(`stowage verify: a trace could not be removed (${one}); run it again with --clean`)
  const count = (state: string): number => all.filter(({ outcome }) => outcome.state === state).length
  if (!json) print(`${count('kept')} promises kept, ${count('broken')} broken, ${count('unchecked')} not checked.`)
  if (interrupted.signal.aborted) return INTERRUPTED
  return count('broken') > 0 ? BROKEN : KEPT
}
