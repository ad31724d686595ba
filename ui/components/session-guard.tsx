import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { onSessionEnd } from '../lib/api.ts'
import { address, uiPath } from '../lib/base.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { checkSession, isSignedIn, type Me, sessionEnd, signInAgain, type SignInStep } from '../lib/session.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Name } from './name.tsx'
import { tellFailure } from './toast.tsx'

/** Time before the end of the session at which the user is asked whether to continue. */
const WARN_BEFORE = 120_000
const LOOK_EVERY = 15_000

/**
 * Keeps unsaved input and uploads when a session ends: the user signs in again on this page, here by password
 * or in another tab, and everything continues. Warns before an idle session ends.
 */
export function SessionGuard({ me }: { readonly me: Me }) {
  const [resume, setResume] = useState<(isGood: boolean) => void>()
  const [isEnding, setEnding] = useState(false)
  useLayoutEffect(() => {
    onSessionEnd(() => {
      setEnding(false)
      return new Promise<boolean>(resolve => setResume(() => resolve))
    })
  }, [])
  useEffect(() => {
    const look = (): void => {
      const end = sessionEnd()
      setEnding(end !== undefined && end - Date.now() < WARN_BEFORE)
    }
    const timer = setInterval(look, LOOK_EVERY)
    const use = (): void => void keepAlive(me)
    addEventListener('pointerdown', use)
    addEventListener('keydown', use)
    return () => {
      clearInterval(timer)
      removeEventListener('pointerdown', use)
      removeEventListener('keydown', use)
    }
  }, [me])
  if (resume) {
    const over = (isGood: boolean): void => {
      setResume(undefined)
      resume(isGood)
    }
    return <SignInAgain me={me} onOver={over} />
  }
  if (!isEnding) return null
  const stay = async (): Promise<void> => {
    await checkSession(me).then(() => setEnding(false), tellFailure)
  }
  return (
    <Dialog title={t('sessionEnding')} onClose={() => void stay()}>
      <p>{t('sessionEndingText')}</p>
      <div class="buttons">
        <Button onPress={stay}>{t('staySignedIn')}</Button>
      </div>
    </Dialog>
  )
}

let asked = 0

/** Activity on the page counts as use of the session, even without requests; reported at most once a minute. */
async function keepAlive(me: Me): Promise<void> {
  const end = sessionEnd()
  if (end === undefined || Date.now() - asked < 60_000) return
  asked = Date.now()
  await checkSession(me).catch(() => undefined)
}

function SignInAgain({ me, onOver }: { readonly me: Me; readonly onOver: (isGood: boolean) => void }) {
  const [step, setStep] = useState<SignInStep>('password')
  const [text, setText] = useState('')
  const look = async (): Promise<boolean> => {
    if (!(await isSignedIn(me).catch(() => false))) return false
    onOver(true)
    return true
  }
  useEffect(() => {
    // The user has signed in again in another tab.
    const back = (): unknown => document.visibilityState === 'visible' && look()
    document.addEventListener('visibilitychange', back)
    addEventListener('focus', back)
    return () => {
      document.removeEventListener('visibilitychange', back)
      removeEventListener('focus', back)
    }
  }, [])
  const signIn = async (): Promise<void> => {
    const next = await signInAgain(me, step, text)
    if (next !== undefined) {
      setText('')
      return setStep(next)
    }
    if (!(await look())) location.reload()
  }
  const query = new URLSearchParams({ successurl: uiPath }).toString()
  return (
    <Dialog title={t('sessionEnded')} onClose={() => onOver(false)}>
      <p>{t('sessionEndedText')}</p>
      <Form work={signIn}>
        {problem => (
          <>
            <p>
              {t('userName')}: <Name>{me.name}</Name>
            </p>
            <Field
              key={step}
              {...fieldOf(step)}
              required
              value={text}
              onValue={setText}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <div class="buttons">
              <a class="button quiet" href={address(`auth/login?${query}`)} target="_blank" rel="noopener">
                {t('signInElsewhere')}
              </a>
              <Button type="submit">{t('signIn')}</Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** What a step of the sign-in asks for. */
function fieldOf(step: SignInStep) {
  if (step === 'factor') {
    return { label: t('factorCode'), hint: t('factorCodeHint'), autocomplete: 'one-time-code' } as const
  }
  if (step === 'newPassword') {
    const hint = t('temporaryPasswordText')
    return { label: t('newPassword'), hint, type: 'password', autocomplete: 'new-password' } as const
  }
  return { label: t('password'), type: 'password', autocomplete: 'current-password' } as const
}
