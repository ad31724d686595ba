import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { debianImages } from './debian.ts'
import type { Test } from './peer-process.ts'

const run = promisify(execFile)
/** Apart from the images and containers of the machine. */
const places = ['--root', debianImages, '--runroot', join(debianImages, 'run')]

/** Runs podman, and resolves to its standard output. */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await run('podman', [...places, '--runtime', 'runc', ...args])
  return stdout.trim()
}

/** Builds the image of `deploy/` in a folder with archives, on Debian. @returns its name */
export async function buildImage(t: Test, folder: string): Promise<string> {
  const image = `stowage-${randomUUID()}`
  const base = ['--isolation', 'chroot', '--build-arg', 'BASE=localhost/debian']
  const file = ['--format', 'docker', '-t', image, '-f', 'deploy/Containerfile', '.']
  await run('buildah', [...places, 'build', ...base, ...file], { cwd: folder, maxBuffer: 2 ** 24 })
  t.after(async () => void (await podman('rmi', '--force', image)))
  return image
}

export interface Container {
  run(...command: string[]): Promise<string>
  healthCheck(): Promise<string>
  log(): Promise<string>
  /** Resolves to the exit status. */
  stop(): Promise<number>
}

/** As docs/how-to/install.md says. */
const safe = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', '--stop-timeout=30']
/** A sandbox may forbid to raise limits, and has no systemd whose timers would start health checks. */
const sandbox = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096', '--health-interval=disable']

/** Runs a command of Stowage in a container of its own, and resolves to its standard output. */
export async function runContainer(
  image: string,
  options: readonly string[],
  command: readonly string[],
): Promise<string> {
  return await podman('run', '--rm', ...safe, ...sandbox, ...options, image, ...command)
}

/** Starts a container as docs/how-to/install.md says, with more options. It has to say that it serves. */
export async function startContainer(t: Test, image: string, options: readonly string[]): Promise<Container> {
  const id = await podman('run', '--detach', ...safe, ...sandbox, ...options, image)
  t.after(async () => void (await podman('rm', '--force', '--volumes', id)))
  return {
    run: (...command) => podman('exec', id, ...command),
    healthCheck: () => podman('healthcheck', 'run', id),
    log: async () => {
      const { stdout, stderr } = await run('podman', [...places, 'logs', id])
      return stdout + stderr
    },
    stop: async () => {
      await podman('stop', id)
      return Number(await podman('inspect', '--format', '{{.State.ExitCode}}', id))
    },
  }
}
