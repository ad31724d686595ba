// `node scripts/pictures.mjs` updates the pictures in docs/images from those that the tests of the pages
// take.
import './runtime.mjs'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const MAX_BYTES = 70_000
const tasks = [
  'upload',
  'share',
  'share-file',
  'public-link',
  'recover',
  'rename',
  'find',
  'describe',
  'sign-out',
  'invite',
  'temporary',
  'second-factor',
  'unlock',
  'quota',
  'end-session',
]
const wanted = {
  'sign-in': 'sign-in-desktop-light',
  'look-dark': 'home-phone-dark',
  'look-contrast': 'home-zoomed-forced',
  ...Object.fromEntries(tasks.map(task => [`task-${task}`, `task-${task}`])),
}

const tests = spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), 'ui/look', 'ui/tasks'], {
  cwd: root,
  env: { ...process.env, PICTURES: '1' },
  stdio: 'inherit',
})
if (tests.status !== 0) process.exit(1)
const folder = join(root, 'docs/images')
mkdirSync(folder, { recursive: true })
for (const [name, picture] of Object.entries(wanted)) {
  const file = join(folder, `${name}.png`)
  copyFileSync(join(root, 'screenshots', `${picture}.png`), file)
  if (statSync(file).size > MAX_BYTES) throw new Error(`${name}.png is larger than ${MAX_BYTES} bytes`)
}
