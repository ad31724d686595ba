import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { showSettings } from '../../src/config/describe.ts'
import { keys } from '../../src/config/keys.ts'
import { loadSettings } from '../../src/config/load.ts'

/** Checked to be what the settings of the code make it (`npm run docs -- --check`). */
const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')

test('the reference has one row of four cells for every key', () => {
  const rows = page.split('\n').filter(line => line.startsWith('| `'))
  assert.equal(rows.length, Object.keys(keys).length)
  for (const row of rows) assert.equal(row.split(/(?<!\\)\|/).length, 6, row)
})

test('the reference shows defaults as they are written', () => {
  assert.match(page, /`service\.http\.json\.max-size` \|[^|]*\| `8m` \|/)
  assert.match(page, /`service\.auth\.temp\.lockout\.duration` \|[^|]*\| `5m` \|/)
  assert.match(page, /`service\.auth\.cas\.max-age` \|[^|]*\| value of `service\.auth\.cookie\.max-age` \|/)
})

test('what is shown is what was changed, with its origin, and secrets are masked (D10.1)', () => {
  const loaded = loadSettings({
    file: { path: 'x', text: 'service.http.port=0\nservice.auth.adminpw=Hunter2\nservice.data.inline-types.1=a/b' },
    overrides: ['service.data.folder= a b '],
  })
  assert.equal(
    showSettings(loaded),
    [
      'service.http.port=0   # file\n',
      'service.auth.adminpw=********   # file\n',
      'service.data.folder=a b   # --set\n',
      'service.data.inline-types.1=a/b   # file\n',
    ].join(''),
  )
})

test('all settings are shown on demand, without any secret', () => {
  const loaded = loadSettings({ overrides: ['service.auth.adminpw=Hunter2'] })
  const shown = showSettings(loaded, { all: true })
  assert.equal(shown.trimEnd().split('\n').length, Object.keys(keys).length)
  assert.ok(shown.includes('service.http.port=8080   # default\n'))
  assert.ok(shown.includes('service.baseurl.folder=   # not set\n'))
  assert.ok(!shown.includes('Hunter2'))
})

test('nothing is shown where nothing was changed', () => {
  assert.equal(showSettings(loadSettings({ overrides: [] })), '')
})
