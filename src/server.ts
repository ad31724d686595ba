import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { Login } from './accounts/login.ts'
import { PasswordRules } from './accounts/password-rules.ts'
import { Passwords } from './accounts/passwords.ts'
import { ADMIN } from './accounts/principals.ts'
import { Sessions } from './accounts/sessions.ts'
import { findUser } from './accounts/users.ts'
import { StartupError } from './base/errors.ts'
import { Limiter } from './base/limiter.ts'
import type { Log } from './base/log.ts'
import type { System } from './base/system.ts'
import type { Settings } from './config/settings.ts'
import { ContextResource } from './content/context-resource.ts'
import { Creation } from './content/creation.ts'
import { Entries } from './content/entries.ts'
import { EntryViews } from './content/entry-view.ts'
import { initialise } from './content/initialise.ts'
import { Resources } from './content/resources.ts'
import { Uploads } from './content/uploads.ts'
import { UserResource } from './content/user-resource.ts'
import { Files } from './files/files.ts'
import { Garbage } from './files/garbage.ts'
import { Ledger } from './files/quota-ledger.ts'
import { createApp } from './http/app.ts'
import { BaseAddress } from './http/base-address.ts'
import { FolderBlobStore } from './stores/folder-blob-store.ts'
import { lockFolder } from './stores/folder-lock.ts'
import { MemoryEphemeralStore } from './stores/memory-ephemeral-store.ts'
import { migrate } from './stores/migrations.ts'
import { schema } from './stores/schema.ts'
import { openSqliteDatabase } from './stores/sqlite-database.ts'

const LEAST_ADMIN_PASSWORD_CHARACTERS = 8

export interface Machine {
  readonly system: System
  readonly log: Log
  /** `SERVICE_ADMIN_PASSWORD`; counts only when the store is new (D5.5). */
  readonly adminPassword: string | undefined
  readonly version: string
}

export interface Server {
  /** Resolves, once requests are served, to the base address. */
  listen(): Promise<string>
  /** Lets requests in progress finish, then lets go of everything. */
  close(): Promise<void>
  /** False while nobody could sign in as admin. */
  readonly adminHasPassword: boolean
  readonly dataFolder: string
}

/** The stores of a data folder, which nobody else may use meanwhile. */
export async function openStores(settings: Settings) {
  const folder = resolve(settings['service.data.folder'])
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await lockFolder(folder)
  try {
    const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
    await migrate(database, schema)
    const blobs = await FolderBlobStore.open(join(folder, 'files'))
    const close = async (): Promise<void> => {
      await blobs.close()
      await database.close()
      await lock.release()
    }
    return { folder, database, blobs, close }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Puts the house together: the only place that chooses drivers and turns settings into the options of each room. */
export async function createServer(settings: Settings, machine: Machine): Promise<Server> {
  const { system, log } = machine
  requireAdminPassword(machine.adminPassword)
  const { folder, database, blobs, close: closeStores } = await openStores(settings)
  const ephemeral = new MemoryEphemeralStore(system)

  const ledger = new Ledger(database, system, {
    enforced: settings['service.data.quota'],
    defaultQuota: settings['service.data.quota.default'],
  })
  const garbage = new Garbage(database, blobs, ledger)
  // The lock on the folder says that nobody else is at work, so every upload on record is one that a crash cut off.
  await garbage.recover(true)

  const passwords = await createPasswords(settings, system)
  const passwordRules = new PasswordRules({
    lowercase: settings['service.auth.password.rule.lowercase'],
    uppercase: settings['service.auth.password.rule.uppercase'],
    number: settings['service.auth.password.rule.number'],
    symbol: settings['service.auth.password.rule.symbol'],
    minLength: settings['service.auth.password.rule.min-length'],
    custom: settings['service.auth.password.rule.custom.<n>'],
  })
  const { adminPassword } = machine
  await initialise({
    database,
    ledger,
    now: system.now(),
    adminPasswordHash: async () => (adminPassword === undefined ? undefined : await passwords.hash(adminPassword)),
  })
  const adminOverride = settings['service.auth.adminpw']
  const login = new Login(
    database,
    passwords,
    adminOverride === undefined ? undefined : await passwords.hash(adminOverride),
  )
  const sessions = new Sessions(ephemeral, system, {
    maxAge: settings['service.auth.cookie.max-age'],
    refreshOnAccess: settings['service.auth.cookie.refresh-expiration-on-access'],
    absoluteMaxAge: settings['service.auth.token.absolute-max-age'],
    mostPerUser: settings['service.auth.token.max-per-user'],
  })

  const maxFileSize = settings['service.data.max-file-size']
  const files = new Files({ database, blobs }, { ledger, garbage }, { system, log }, { maxFileSize })
  const entries = new Entries({ database, files, ledger, sessions, system })
  const uploads = new Uploads({ entries, files, system })
  const userResource = new UserResource(
    { database, entries, login, passwords, passwordRules, sessions },
    { requireCurrentPassword: settings['service.auth.password.require-current-password'] },
  )
  const creation = new Creation(
    { database, ledger, passwords, passwordRules, system },
    { groupContextsForAll: settings['service.nonadmin.group-context-creation'] },
  )
  const content = {
    entries,
    uploads,
    userResource,
    creation,
    views: new EntryViews(database, ledger),
    resources: new Resources(entries),
    contexts: new ContextResource({ database, entries, ledger }),
  }

  const configuredBase = settings['service.baseurl.folder']
  let base = configuredBase === undefined ? undefined : new BaseAddress(configuredBase)
  const getBase = (): BaseAddress => {
    if (!base) throw new Error('the base address is known only once the server listens')
    return base
  }
  const app = createApp(
    { database, sessions, login, files, ledger, system, log, ...content },
    httpOptions(settings, machine, getBase, base?.path ?? '/'),
  )
  const admin = await findUser(database, ADMIN)

  return {
    adminHasPassword: adminOverride !== undefined || admin?.password !== undefined,
    dataFolder: folder,
    async listen() {
      await app.listen({ host: settings['service.http.host'], port: settings['service.http.port'] })
      const { port } = app.server.address() as AddressInfo
      base ??= new BaseAddress(`http://127.0.0.1:${port}/`)
      void files.collectGarbage()
      return base.href
    },
    async close() {
      await app.close()
      await files.collectGarbage()
      await ephemeral.close()
      await closeStores()
    },
  }
}

/** @throws {StartupError} when the password for admin is too short (D5.5) */
function requireAdminPassword(password: string | undefined): void {
  if (password === undefined || [...password].length >= LEAST_ADMIN_PASSWORD_CHARACTERS) return
  throw new StartupError(
    `SERVICE_ADMIN_PASSWORD is too short: it must have at least ${LEAST_ADMIN_PASSWORD_CHARACTERS} characters.`,
  )
}

async function createPasswords(settings: Settings, system: System): Promise<Passwords> {
  const cost = {
    memory: settings['service.auth.password.argon2.memory'],
    iterations: settings['service.auth.password.argon2.iterations'],
    parallelism: settings['service.auth.password.argon2.parallelism'],
  }
  const limiter = new Limiter({
    concurrency: settings['service.auth.password.hash.concurrency'],
    queue: settings['service.auth.password.hash.queue'],
    what: 'password checks',
  })
  return await Passwords.create(cost, limiter, system)
}

function httpOptions(settings: Settings, machine: Machine, base: () => BaseAddress, basePath: string) {
  const cookiePath = settings['service.auth.cookie.path']
  return {
    base,
    trustedProxies: settings['service.http.trusted-proxies.<n>'],
    cookie: {
      path: cookiePath === 'auto' ? basePath : cookiePath,
      httpOnly: settings['service.auth.cookie.httponly'],
      secure: settings['service.auth.cookie.secure'],
      sameSite: settings['service.auth.cookie.samesite'],
    },
    invalidTokenIsError: settings['service.auth.cookie.invalid-token-error'],
    inlineTypes: settings['service.data.inline-types.<n>'],
    body: {
      idleTimeout: settings['service.http.body.idle-timeout'],
      minimumRate: settings['service.http.body.minimum-rate'],
      maxJson: settings['service.http.json.max-size'],
    },
    version: machine.version,
  }
}
