import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { answerFrom, answerMessage, taskFrom, textOfTask } from '../../src/http/readers/messages.ts'
import type { ReadAnswer } from '../../src/http/readers/read-task.ts'

const guest = guestFrom({ address: '192.0.2.1', userAgent: 'a browser' })
const user = { ...guest.user, id: '7', name: 'anna', password: 'a digest' }
const task = { url: '/search?query=title:\u2028é', headers: { accept: 'text/turtle', 'if-match': '"a"' } }

test('a task arrives with what decides about rights, and without anything else of its caller (D34.19)', () => {
  const grant = { tokenId: 'x', scopes: ['read', 'write'], contexts: ['3'] } as const
  const text = textOfTask({ ...task, caller: { ...guest, user, groups: new Set(['9', '8']), grant } })
  assert.doesNotMatch(text, /anna|digest|192|browser/)
  const { caller, ...arrived } = taskFrom(text)
  assert.deepEqual(arrived, task)
  assert.deepEqual([caller.user.id, caller.groups, caller.grant], ['7', new Set(['8', '9']), grant])
  assert.equal(taskFrom(textOfTask({ ...task, caller: guest })).caller.grant, undefined)
})

test('an answer arrives as it was made (D34.19)', () => {
  const headers = { 'content-type': 'text/plain', etag: '"a\\n\n"' }
  const answers: readonly ReadAnswer[] = [
    { status: 200, headers, body: '' },
    { status: 404, headers: {}, body: '\n{"a":"\u{1F98A} é"}\n' },
    { status: 200, headers, body: Uint8Array.of(10, 0, 255) },
    { refused: { name: 'InvalidInput', code: 'invalid-query', detail: 'no', extra: {} } },
  ]
  for (const answer of answers) assert.deepEqual(answerFrom(structuredClone(answerMessage(answer))), answer)
})
