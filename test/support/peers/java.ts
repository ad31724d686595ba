import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Peer } from './peer.ts'

const [program, compiler] = ['/usr/bin/java', '/usr/bin/javac']

export const java: Peer = { name: 'the JDK', available: () => existsSync(program) && existsSync(compiler) }

/** The two clients of the JDK, each with a `CookieManager`. */
export type JavaClient = 'HttpURLConnection' | 'HttpClient'

/** Runs `java-client.java`, and returns the lines that it prints: a status and the beginning of each body. */
export async function runJava(client: JavaClient, args: readonly string[]): Promise<readonly string[]> {
  const source = fileURLToPath(new URL('java-client.java', import.meta.url))
  const { stdout } = await promisify(execFile)(program, [source, client, ...args])
  return stdout.trimEnd().split('\n')
}
