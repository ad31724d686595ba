import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogues } from '../../src/http/pages/messages.ts'
import { en } from '../../ui/messages/en.ts'
import { sv } from '../../ui/messages/sv.ts'

const all = { 'of the service': catalogues, 'of the application': { en, sv } }

const placesIn = (message: string): string[] => [...message.matchAll(/\{[^}]*\}/g)].map(([place]) => place).sort()

for (const [which, { en, sv }] of Object.entries(all)) {
  test(`the catalogues ${which} have the same keys, none empty`, () => {
    assert.deepEqual(Object.keys(sv).sort(), Object.keys(en).sort())
    for (const [key, message] of [...Object.entries(en), ...Object.entries(sv)])
      assert.notEqual(message.trim(), '', key)
  })

  test(`the messages ${which} have the same places for values in both languages`, () => {
    const translated: Readonly<Record<string, string>> = sv
    for (const [key, message] of Object.entries(en)) {
      assert.deepEqual(placesIn(translated[key] ?? ''), placesIn(message), key)
    }
  })
}
