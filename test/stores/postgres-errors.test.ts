import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatementTimeout, StoreUnavailable } from '../../src/base/errors.ts'
import { UniqueViolation } from '../../src/stores/database.ts'
import { SerializationConflict, translated } from '../../src/stores/postgres/postgres-connection.ts'
import { placeOf } from '../../src/stores/postgres/postgres-pool.ts'

const serverError = (code: string): Error => Object.assign(new Error(`code ${code}`), { severity: 'ERROR', code })

test('an error of the server is an outage, a conflict, a row that is there already, or stays as it is', () => {
  for (const code of [
    '08000',
    '08006',
    '28000',
    '28P01',
    '53100',
    '53300',
    '58030',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '25006',
    '25P03',
    '25P04',
    '55P03',
    '3D000',
    '3F000',
    '42501',
  ]) {
    const error = serverError(code)
    const outage = translated(error)
    assert.ok(outage instanceof StoreUnavailable, code)
    assert.equal(outage.message, 'The database cannot be reached at the moment.')
    assert.equal(outage.cause, error)
  }
  assert.ok(translated(serverError('57014')) instanceof StatementTimeout)
  for (const code of ['40001', '40P01']) {
    const conflict = translated(serverError(code))
    assert.ok(conflict instanceof SerializationConflict, code)
    assert.deepEqual(
      [conflict.name, conflict.message],
      ['SerializationConflict', 'another transaction came in between'],
    )
    assert.ok(conflict.cause instanceof Error)
  }
  const unique = serverError('23505')
  const violation = translated(unique)
  assert.ok(violation instanceof UniqueViolation && violation.cause === unique)
  for (const code of ['0A000', '23503', '42P01', '22021', '57000', '57P06', '25001', '40002', '108000', '3D001']) {
    const error = serverError(code)
    assert.equal(translated(error), error, code)
  }
})

test('an error that is not of the server means that the connection is broken', () => {
  const half = [
    new Error('Connection terminated'),
    Object.assign(new Error('no severity'), { code: '23505' }),
    Object.assign(new Error('no code'), { severity: 'ERROR' }),
    { severity: 'ERROR', code: '23505' },
    undefined,
  ]
  for (const error of half) {
    const outage = translated(error)
    assert.ok(outage instanceof StoreUnavailable)
    assert.equal(outage.cause, error)
  }
})

test('of an address only host, port and database are shown', () => {
  assert.equal(placeOf('postgres://name:secret@db.example.org/store?x=1'), 'db.example.org:5432/store')
  assert.equal(placeOf('postgres://db.example.org:6000/store'), 'db.example.org:6000/store')
})
