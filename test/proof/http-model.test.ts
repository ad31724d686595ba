import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isLong } from '../support/proofs.ts'
import { startInProcess } from '../support/service.ts'
import { httpModelSettings, proveHttp } from './http-model.ts'

test('over HTTP, too, sign-ins, logins and quotas are as the models say (D2, D6, D7.3)', async () => {
  const service = await startInProcess({ after }, { settings: httpModelSettings })
  assert.ok((await proveHttp(service, { runs: isLong ? 25 : 5 })) > 0)
})
