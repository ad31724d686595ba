import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Peer, unpackedPeers } from './peer.ts'

const run = promisify(execFile)
const root = join(unpackedPeers, 'debian/root')
/** Where images are kept, `localhost/debian` among them. */
export const debianImages = join(unpackedPeers, 'debian/images')

/** Without a service that registers machines; changes stay in memory. */
const nspawn = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--volatile=overlay', '-D', root]

/** A root file system of Debian with systemd, and the programs that boot it or build images on it. */
export const debian: Peer = {
  name: 'Debian with systemd-nspawn, buildah and podman',
  available: () =>
    [join(root, 'etc/debian_version'), '/usr/bin/systemd-nspawn', '/usr/bin/buildah', '/usr/bin/podman'].every(path =>
      existsSync(path),
    ),
}

/** What keeps this machine from running systemd or a container in a namespace, or nothing. */
export async function obstacle(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can boot a file system'
  return await run('systemd-nspawn', [...nspawn, '/bin/true']).then(
    () => undefined,
    (error: Error) => `systemd-nspawn cannot run here: ${error.message}`,
  )
}

/** Runs a command in Debian, and resolves to its standard output. */
export async function inDebian(options: readonly string[], command: readonly string[]): Promise<string> {
  return (await run('systemd-nspawn', [...nspawn, ...options, ...command])).stdout
}

/**
 * Boots Debian with copies of files under these names, and resolves to what a script of this folder saw. The root file system stays as it was.
 */
export async function runAsMachine(
  script: string,
  files: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const shared = await temporaryFolder()
  for (const [name, path] of Object.entries(files)) await copyFile(path, join(shared, name))
  await copyFile(fileURLToPath(new URL(script, import.meta.url)), join(shared, 'script'))
  const unit = `[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nExecStart=/shared/script\n`
  await writeFile(join(shared, 'unit'), unit)
  const binds = [`--bind=${shared}:/shared`, `--bind-ro=${shared}/unit:/etc/systemd/system/stowage-test.service`]
  const boot = ['--boot', 'systemd.wants=stowage-test.service']
  const { stdout } = await run('systemd-nspawn', [...nspawn, ...binds, ...boot])
  const facts = await readFile(join(shared, 'facts'), 'utf8').catch(() => '')
  const output = await readFile(join(shared, 'output'), 'utf8').catch(() => stdout)
  const named = [...facts.matchAll(/^(.*?)=(.*)$/gm)].map(([, name = '', fact = '']) => [name, fact] as const)
  return { ...Object.fromEntries(named), output }
}
