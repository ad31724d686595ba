import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings } from '../../src/config/load.ts'

test('a removed key is an error that says what happens instead', () => {
  assert.throws(() => loadSettings({ overrides: ['service.http.threads=4'] }), {
    name: 'SettingsError',
    message: /^service\.http\.threads is no longer a setting: .*several processes on PostgreSQL.*\. Remove it$/,
  })
})

test('the variable of a removed key is an error too', () => {
  assert.throws(() => loadSettings({ overrides: [], environment: { SERVICE_HTTP_THREADS: '4' } }), {
    message: /^SERVICE_HTTP_THREADS is no longer the variable of a setting: .*several processes/,
  })
})

test('a removed key of a feature names the setting that has taken its place', () => {
  assert.throws(() => loadSettings({ overrides: ['service.data.virus-scan.large-files=store'] }), {
    message: /^service\.data\.virus-scan\.large-files is no longer a setting: service\.data\.virus-scan\.failure says /,
  })
})
