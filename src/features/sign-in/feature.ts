import { feature, offer } from '../../core/feature.ts'
import { signInRoutes } from './routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { newPasswordRoutes, secondStepRoutes } from './step-routes.ts'

const stepRoutes = [...secondStepRoutes, ...newPasswordRoutes]

export const signIn = feature({
  name: 'sign-in',
  routes: [...sessionRoutes, ...signInRoutes, ...stepRoutes],
  open: core => ({ offers: [...offer(core, sessionRoutes), ...offer(core, signInRoutes), ...offer(core, stepRoutes)] }),
})
