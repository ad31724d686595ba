import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Form } from '../../components/form.tsx'
import { Await, Card } from '../../components/page.tsx'
import { tell } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { TemporaryPassword } from '../temporary-password.tsx'
import { GeneratePassword, generatePassword } from '../generate-password.tsx'
import { loadRules, NewPassword } from '../password-field.tsx'

interface ResetPasswordProps {
  readonly id: string
  /** Called when the data of the user have changed. */
  readonly again: () => void
}

/** Sets a new password for a user, who must be told it by other means: a random one, unless another is typed. */
export function ResetPassword({ id, again }: ResetPasswordProps) {
  const [rules, againRules] = useLoaded(loadRules, [])
  const [password, setPassword] = useState(generatePassword)
  const [isTemporary, setTemporary] = useState(true)
  const save = async (): Promise<void> => {
    await ask(`_principals/resource/${part(id)}`, { method: 'PUT', json: { password, temporaryPassword: isTemporary } })
    tell(t('passwordReset'))
    again()
  }
  return (
    <Card title={t('resetPassword')}>
      <Await loaded={rules} again={againRules}>
        {rules => (
          <Form work={save}>
            {problem => (
              <>
                <NewPassword
                  {...rules}
                  isShown
                  value={password}
                  onValue={setPassword}
                  problem={problem}
                  error={problem === undefined ? undefined : tellProblem(problem)}
                />
                <GeneratePassword password={password} onPassword={setPassword} />
                <TemporaryPassword isTemporary={isTemporary} onTemporary={setTemporary} />
                <p class="hint">{t('resetPasswordHint')}</p>
                <div class="buttons">
                  <Button type="submit">{t('setPassword')}</Button>
                </div>
              </>
            )}
          </Form>
        )}
      </Await>
    </Card>
  )
}
