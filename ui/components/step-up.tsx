import { useLayoutEffect, useState } from 'preact/hooks'
import { ask, onProofWanted } from '../lib/api.ts'
import { loadFactors } from '../lib/factors.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { hasPasskeys, provePasskey } from '../lib/passkeys.ts'
import { Button } from './button.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form, FormError } from './form.tsx'
import { Await } from './page.tsx'

/** Asks users to prove again who they are, before a change that decides about an account; then the change is sent again. */
export function StepUp() {
  const [resume, setResume] = useState<(isProven: boolean) => void>()
  useLayoutEffect(() => {
    onProofWanted(() => new Promise<boolean>(resolve => setResume(() => resolve)))
  }, [])
  if (!resume) return null
  const over = (isProven: boolean): void => {
    setResume(undefined)
    resume(isProven)
  }
  return <ProveAgain onOver={over} />
}

function ProveAgain({ onOver }: { readonly onOver: (isProven: boolean) => void }) {
  const [loaded, again] = useLoaded(signal => loadFactors(signal), [])
  const [answer, setAnswer] = useState('')
  return (
    <Dialog title={t('proveAgain')} onClose={() => onOver(false)}>
      <p>{t('proveAgainText')}</p>
      <Await loaded={loaded} again={again}>
        {({ factors }) => {
          const hasPasskey = factors.some(({ kind }) => kind === 'passkey') && hasPasskeys()
          const byCode = factors.length > 0
          const prove = async (): Promise<void> => {
            await ask('auth/fresh', { method: 'POST', json: byCode ? { code: answer } : { password: answer } })
            onOver(true)
          }
          const proveByPasskey = async (): Promise<void> => {
            await ask('auth/fresh', { method: 'POST', json: { passkey: await provePasskey() } })
            onOver(true)
          }
          return (
            <>
              {hasPasskey && (
                <Form work={proveByPasskey}>
                  {problem => (
                    <>
                      <FormError problem={problem} />
                      <Button type="submit">{t('passkeyUse')}</Button>
                    </>
                  )}
                </Form>
              )}
              <Form work={prove}>
                {problem => (
                  <>
                    <Field
                      label={t(byCode ? 'factorCode' : 'password')}
                      type={byCode ? 'text' : 'password'}
                      autocomplete={byCode ? 'one-time-code' : 'current-password'}
                      hint={byCode ? t('factorCodeHint') : undefined}
                      value={answer}
                      onValue={setAnswer}
                      required
                      error={problem === undefined ? undefined : tellProblem(problem)}
                    />
                    <DialogButtons onClose={() => onOver(false)}>
                      <Button type="submit">{t('continueAction')}</Button>
                    </DialogButtons>
                  </>
                )}
              </Form>
            </>
          )
        }}
      </Await>
    </Dialog>
  )
}
