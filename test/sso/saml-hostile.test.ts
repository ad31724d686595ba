import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsOf } from '../support/steps.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { Verifier } from '../../src/features/saml/provider.ts'
import { verify } from '../support/saml-checks.ts'
import { encryptXml } from '../support/saml-encryption.ts'
import { buildResponse, encode, EXCLUSIVE, expected, keyNamed, NAME, signResponse } from '../support/saml-idp.ts'

const verifier = new Verifier()
after(() => verifier.close())
const good = encode(signResponse(buildResponse()))
const LEAST = 300_000
const service = keyNamed('service').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const inside = (piece: string): string =>
  signResponse(buildResponse()).replace('<samlp:Status>', found => piece + found)

/** For the check of one response, about three times the steps of the most expensive one. */
const MAX_STEPS = 20_000_000
/** For the thread that answers requests, including the load of the library of threads. */
const MAX_CALLER_STEPS = 100_000

/** Inputs built to be expensive, and the check that rejects each. */
const hostile: Readonly<Record<string, readonly [xml: () => string, check: string]>> = {
  'more than 512 KiB': [() => inside(`<x>${'a'.repeat(524_288)}</x>`), 'xml-size'],
  'more than 512 KiB of base64': [() => 'a'.repeat(700_000), 'size'],
  'depth of 100 000': [() => '<a>'.repeat(100_000), 'xml-size'],
  'depth of 41': [() => inside('<a>'.repeat(40) + '</a>'.repeat(40)), 'xml-size'],
  '60 000 empty elements': [() => inside('<a/>'.repeat(60_000)), 'xml-size'],
  '100 000 attributes in one element': [
    () => inside(`<x ${Array.from({ length: 40_000 }, (_, n) => `a${n}="1"`).join(' ')}/>`),
    'xml-size',
  ],
  '100 000 attributes without a blank': [() => inside(`<x ${'a=""'.repeat(100_000)}/>`), 'xml-xml'],
  '54 000 attributes in many elements': [
    () => inside(`<x ${Array.from({ length: 45 }, (_, n) => `a${n}=""`).join(' ')}/>`.repeat(1_200)),
    'xml-size',
  ],
  'many declared namespaces': [
    () => inside(`<x ${Array.from({ length: 8_000 }, (_, n) => `xmlns:a${n}="urn:x"`).join(' ')}/>`),
    'xml-size',
  ],
  '300 KB of <': [() => '<'.repeat(LEAST), 'xml-xml'],
  '300 KB of < in the name': [() => signResponse(buildResponse()).replace(NAME, '<'.repeat(LEAST)), 'xml-xml'],
  '300 KB of >': [() => inside('>'.repeat(LEAST)), 'signature'],
  '300 KB of </': [() => '</'.repeat(LEAST / 2), 'xml-xml'],
  '300 KB of &': [() => inside('&'.repeat(LEAST)), 'xml-xml'],
  '300 KB of &#': [() => inside('&#'.repeat(LEAST / 2)), 'xml-xml'],
  '400 KB of references': [() => inside('&#65;'.repeat(80_000)), 'signature'],
  '300 KB of quotes in a tag': [() => `<a ${'"'.repeat(LEAST)}`, 'xml-xml'],
  '300 KB of pairs of quotes in a tag': [() => `<a ${`"'"'`.repeat(LEAST / 4)}`, 'xml-xml'],
  'an attribute of 300 KB that does not end': [() => `<a b="${'x'.repeat(LEAST)}`, 'xml-xml'],
  'a tag of 300 KB that does not end': [() => `<a${' '.repeat(LEAST)}`, 'xml-xml'],
  'unclosed tags': [() => '<a '.repeat(100_000), 'xml-xml'],
  'an unclosed comment': [() => inside(`<!--${'-'.repeat(LEAST)}`), 'xml-comment'],
  'unclosed comments': [() => '<!--'.repeat(75_000), 'xml-comment'],
  'an unclosed processing instruction': [() => `<?xml ${'x'.repeat(LEAST)}`, 'xml-processing-instruction'],
  '300 KB of declarations': [() => '<!'.repeat(LEAST / 2), 'xml-markup'],
  '300 KB of white space before the root': [() => ' '.repeat(LEAST) + signResponse(buildResponse()), ''],
  '300 KB of white space behind the root': [() => signResponse(buildResponse()) + ' '.repeat(LEAST), ''],
  '300 KB of white space around text': [() => `${' '.repeat(LEAST)}x${' '.repeat(100_000)}`, 'xml-xml'],
  '300 KB of white space in the signed name': [
    () => signResponse(buildResponse().replace(NAME, `${' '.repeat(LEAST)}${NAME}`)),
    '',
  ],
  '300 KB of white space before the declaration': [() => `${' '.repeat(LEAST)}<?xml ?><a/>`, 'root'],
  '300 KB of a value in the signature': [
    () => signResponse(buildResponse()).replace(/(?<=<ds:SignatureValue>)/, 'A'.repeat(LEAST)),
    'signature',
  ],
  'an id of 300 KB': [() => signResponse(buildResponse({ responseId: `_${'a'.repeat(100_000)}` }), 'assertion'), ''],
  '1 900 elements that are signed': [
    () =>
      signResponse(
        buildResponse().replace('</saml:AttributeStatement>', f => '<saml:Attribute Name="x"/>'.repeat(1_900) + f),
        'both',
      ),
    '',
  ],
  '9 900 elements that are signed': [
    () =>
      signResponse(
        buildResponse().replace('</saml:AttributeStatement>', f => '<saml:Attribute Name="x"/>'.repeat(9_900) + f),
        'both',
      ),
    '',
  ],
  '10 000 elements with names of their own': [
    () => inside(Array.from({ length: 9_900 }, (_, n) => `<x${n}></x${n}>`).join('')),
    'xml-size',
  ],
  '9 900 declared namespaces': [() => inside('<x xmlns:a="urn:x"/>'.repeat(9_900)), 'signature'],
  '1 900 declared namespaces, each in use': [
    () => inside(Array.from({ length: 1_900 }, (_, n) => `<a${n}:x xmlns:a${n}="urn:x"/>`).join('')),
    'xml-size',
  ],
  '35 levels, each with 50 namespaces that go out of use': [
    () => {
      const level = (n: number) => `<x ${Array.from({ length: 50 }, (_, m) => `xmlns:a${n}_${m}="urn:x"`).join(' ')}>`
      return inside(Array.from({ length: 35 }, (_, n) => level(n)).join('') + '</x>'.repeat(35))
    },
    'signature',
  ],
  'a namespace of 200 KB that 9 000 signed elements use': [
    () => inside(`<x xmlns:n="urn:${'n'.repeat(200_000)}">${'<n:x/>'.repeat(9_000)}</x>`),
    'xml-size',
  ],
  'a namespace of 200 KB that 9 000 elements of SignedInfo use': [
    () =>
      signResponse(buildResponse()).replace(
        '</ds:Transform>',
        end => `<x xmlns:n="urn:${'n'.repeat(200_000)}">${'<n:x/>'.repeat(9_000)}</x>${end}`,
      ),
    'xml-size',
  ],
  '60 000 prefixes to be written, and 9 000 elements': [
    () =>
      signResponse(buildResponse())
        .replace(
          '</ds:CanonicalizationMethod>',
          end => `<l:InclusiveNamespaces xmlns:l="${EXCLUSIVE}" PrefixList="${'n '.repeat(60_000)}"/>${end}`,
        )
        .replace('</ds:Transform>', end => '<x xmlns:n="urn:n"/>'.repeat(9_000) + end),
    'signature-shape',
  ],
  '500 KB that are encrypted': [
    () => buildResponse().replace(/<saml:Assertion [^]*<\/saml:Assertion>/, () => encryptXml('<'.repeat(LEAST))),
    'decryption',
  ],
}

for (const [title, [xml, check]] of Object.entries(hostile)) {
  test(`checked with limited work, and not on the thread that answers requests: ${title} (D8.3, D19.4)`, async () => {
    const encoded = encode(xml())
    const wanted = expected({ decryptionKeys: [service] })
    const steps = await stepsOf(async () => {
      const outcome = await verify({ encoded, expected: wanted })
      assert.equal('failed' in outcome ? outcome.failed.check : '', check)
    })
    assert.ok(steps < MAX_STEPS, `the check takes ${steps} steps`)
    const ownSteps = await stepsOf(async () => {
      const outcome = await verifier.verify(encoded, wanted).catch((error: unknown) => error)
      if (outcome instanceof Error && !(outcome instanceof SsoRefused)) throw outcome
      assert.equal(outcome instanceof SsoRefused ? outcome.failed.check : '', check)
    })
    assert.ok(ownSteps < MAX_CALLER_STEPS, `the caller takes ${ownSteps} steps`)
  })
}

test('refusals come back from the threads with what was expected and received (D8.5)', async () => {
  await assert.rejects(verifier.verify(good, expected({ audience: 'urn:other' })), error => {
    assert.ok(error instanceof SsoRefused)
    assert.deepEqual(error.failed, { check: 'audience', expected: 'urn:other', received: 'urn:the-service' })
    return true
  })
})

test('responses beyond the queue are refused at once, the others are checked (D8.3)', async () => {
  const small = new Verifier({ threads: 1, queue: 20 })
  after(() => small.close())
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => small.verify(good, expected())))
  const refused = outcomes.filter(outcome => outcome.status === 'rejected')
  assert.equal(refused.length, 9)
  for (const { reason } of refused) assert.equal((reason as Error).name, 'Overloaded')
  assert.equal((await small.verify(good, expected())).name, NAME)
})

test('a verifier that was never used closes at once', async () => {
  await new Verifier().close()
})

test('a closed verifier leaves no thread behind', async () => {
  const threads = () => process.getActiveResourcesInfo().filter(name => name === 'MessagePort').length
  const before = threads()
  const used = new Verifier({ threads: 1, queue: 1 })
  await used.verify(good, expected())
  await used.close()
  assert.equal(threads(), before)
})
