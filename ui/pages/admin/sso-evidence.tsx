import { English } from '../../components/english.tsx'
import { tellWith } from '../../lib/language.ts'

/** The values that a check of a sign-on has compared, as the service describes them. */
export const tellEvidence = (expected: string, received: string) =>
  tellWith('expectedReceived', {
    expected: <English>{expected}</English>,
    received: <English>{received}</English>,
  })
