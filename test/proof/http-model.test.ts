import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong } from '../support/proofs.ts'
import { startInProcess } from '../support/service.ts'
import { httpModelSettings, proveHttp } from './http-model.ts'

test('sign-ins, sessions and quotas over HTTP agree with the models (D2, D6, D7.3)', async () => {
  const service = await startInProcess({ after }, { settings: httpModelSettings })
  assert.ok((await proveHttp(service, { runs: isLong ? 25 : 5 })) > 0)
})
