import { createHash } from 'node:crypto'
import { access, constants, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { syncFolder } from './sync-folder.ts'

const KEY_BYTES = 32
/** Maximum number of keys, because a session is looked up under each. */
const MAX_KEYS = 5

/**
 * Reads the keys in the file at `path`, one per line; if the file is missing, writes a new key to it. Several processes may
 * start with the same file at once.
 * @throws {StartupError} also when users other than the owner can read the file
 */
export async function readKeyFile(path: string, system: System): Promise<Uint8Array[]> {
  try {
    if (await isMissing(path)) await writeNew(path, system)
    return parseKeys(await readPrivate(path), path)
  } catch (error) {
    throw error instanceof StartupError ? error : unusable(path, error)
  }
}

/**
 * Checks what {@link readKeyFile} would do with the file, and writes nothing.
 * @param madeBefore a folder that is made before the file is read
 * @throws {StartupError} when the file is unusable, or missing where it cannot be written
 */
export async function requireKeyFile(path: string, madeBefore: string): Promise<void> {
  try {
    if (!(await isMissing(path))) parseKeys(await readPrivate(path), path)
    else if (dirname(resolve(path)) !== resolve(madeBefore)) await requireCreatable(path)
  } catch (error) {
    throw error instanceof StartupError ? error : unusable(path, error)
  }
}

async function requireCreatable(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    const reason = `it does not exist, and this user cannot create files in ${dirname(path)}`
    throw new StartupError(`The key file ${path} cannot be used: ${reason}.`, { cause })
  })
}

/**
 * Parses keys of 32 random bytes in base64, one per line; blank lines and lines that begin with `#` are ignored.
 * @throws {StartupError} that names `source` and the line, never its content
 */
export function parseKeys(text: string, source: string): Uint8Array[] {
  const keys: Uint8Array[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const word = line.trim()
    if (word === '' || word.startsWith('#')) continue
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(word)) {
      throw new StartupError(`${source}, line ${index + 1}: expected ${KEY_BYTES} random bytes in base64.`)
    }
    keys.push(Buffer.from(word, 'base64'))
  }
  if (keys.length >= 1 && keys.length <= MAX_KEYS) return keys
  throw new StartupError(`${source} must contain 1 to ${MAX_KEYS} keys, but contains ${keys.length}.`)
}

/** Identifies a key in messages and to other nodes without revealing it: 12 hexadecimal digits. */
export const keyFingerprint = (key: Uint8Array): string =>
  createHash('sha256').update('stowage token key').update(key).digest('hex').slice(0, 12)

/** Reads a file with keys. @throws {StartupError} when users other than the owner can read it @throws {Error} of the file system */
export async function readPrivate(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { mode } = await file.stat()
    if ((mode & 0o077) !== 0) {
      throw new StartupError(
        `${path} contains keys, and other users than its owner can access it: run chmod 600 on it.`,
      )
    }
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The file gets its name only when it is complete. If another process was faster, its file stays. */
async function writeNew(path: string, system: System): Promise<void> {
  const draft = `${path}.${Buffer.from(system.randomBytes(9)).toString('base64url')}`
  const text = `${Buffer.from(system.randomBytes(KEY_BYTES)).toString('base64')}\n`
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    await link(draft, path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
    // Data encrypted with the key are stored next, and would be lost if a power failure removed the name of the file.
    await syncFolder(dirname(path))
  } finally {
    // A disk that is full may have taken the name without the key.
    await rm(draft, { force: true })
  }
}

/**
 * Adds the keys in `text`, as {@link readPrivate} returns it, to the keys in the file at `path`, which is created if it is missing.
 * @throws {StartupError} when the file would have too many
 */
export async function addKeys(text: string, path: string): Promise<void> {
  const present = (await isMissing(path)) ? '' : await readPrivate(path)
  const lines = present.split('\n').map(line => line.trim())
  const missing = text.split('\n').filter(line => line.trim() !== '' && !lines.includes(line.trim()))
  if (missing.length === 0) return
  const all = [present.trimEnd(), ...missing, ''].join('\n').trimStart()
  parseKeys(all, path)
  const draft = `${path}.new`
  // The remains of a run that was cut off, or a link, which would be followed.
  await rm(draft, { force: true })
  await writeFile(draft, all, { flag: 'wx', mode: 0o600, flush: true })
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** Whether there is no such file; a file that cannot be accessed is treated as present. */
export const isMissing = (path: string): Promise<boolean> =>
  access(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  )

const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const unusable = (path: string, error: unknown): StartupError =>
  new StartupError(`The key file ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}.`, {
    cause: error,
  })
