import { execFileSync } from 'node:child_process'
import { readFileSync, lutimesSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'

/** What a package is built from: version, commit with `-dirty` for files that it does not contain, its time, and the names of its files. */
export async function readSource() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const isDirty = git('status', '--porcelain') !== ''
  return {
    version,
    commit: git('rev-parse', 'HEAD') + (isDirty ? '-dirty' : ''),
    /** Seconds since 1970. */
    time: Number(git('log', '-1', '--format=%ct')),
    files: git('ls-files', '-z').split('\0').filter(Boolean),
  }
}

/** Gives a folder and everything in it the time of the commit. */
export function setTimes(folder, time) {
  for (const name of readdirSync(folder, { recursive: true })) lutimesSync(join(folder, name), time, time)
  lutimesSync(folder, time, time)
}
